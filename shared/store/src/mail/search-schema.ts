/** Messages are indexed in chunks of 256 numbers. */
export const chunkBits = 8;

const isIndexed = `OLD.seq <= (SELECT through_seq FROM indexed_messages WHERE chunk = OLD.seq >> ${String(chunkBits)})`;

/**
 * A full-text index over messages, beside the messages themselves, and what it covers so far. Writing a message does not
 * touch it: whoever searches adds what is missing first. A message that is changed or deleted leaves no word behind.
 */
export const searchSql = `
CREATE VIRTUAL TABLE message_words USING fts5(
  body, content = 'messages', content_rowid = 'seq', columnsize = 0, tokenize = 'unicode61 remove_diacritics 2'
);
-- What is deleted is overwritten. A merge that is left half done keeps copies that no deletion finds: each is done at once.
INSERT INTO message_words (message_words, rank) VALUES ('secure-delete', 1), ('automerge', 0), ('crisismerge', 64);

CREATE TABLE indexed_messages (
  chunk INTEGER PRIMARY KEY,
  -- The messages of the chunk up to this one are in the index.
  through_seq INTEGER NOT NULL
) STRICT;

CREATE TRIGGER message_words_deleted AFTER DELETE ON messages WHEN ${isIndexed} BEGIN
  INSERT INTO message_words (message_words, rowid, body) VALUES ('delete', OLD.seq, OLD.body);
END;
CREATE TRIGGER message_words_changed AFTER UPDATE OF body ON messages WHEN ${isIndexed} BEGIN
  INSERT INTO message_words (message_words, rowid, body) VALUES ('delete', OLD.seq, OLD.body);
  INSERT INTO message_words (rowid, body) VALUES (NEW.seq, NEW.body);
END;
`;
