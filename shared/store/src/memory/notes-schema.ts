/**
 * Notes, and a full-text index over them: the same in a project's database, where their owners are agents, and in the
 * catalog, where they are profiles. A note that is changed or erased leaves no word behind.
 */
export const notesSql = `
CREATE TABLE notes (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  -- An agent, or the id of a profile.
  owner TEXT NOT NULL,
  text TEXT NOT NULL,
  tags_json TEXT NOT NULL,
  -- An agent, or the name of a token.
  author TEXT NOT NULL,
  -- Where an agent wrote it; null where a person did.
  project TEXT,
  turn TEXT,
  created_at_ms INTEGER NOT NULL,
  edited_by TEXT,
  edited_at_ms INTEGER
) STRICT;
CREATE INDEX notes_owner ON notes (owner, seq);

CREATE VIRTUAL TABLE note_words USING fts5(
  text, tags_json, content = 'notes', content_rowid = 'seq', tokenize = 'unicode61 remove_diacritics 2'
);
-- What is erased is overwritten. A merge that is left half done keeps copies that no deletion finds: each is done at once.
INSERT INTO note_words (note_words, rank) VALUES ('secure-delete', 1), ('automerge', 0), ('crisismerge', 64);
CREATE TRIGGER note_words_added AFTER INSERT ON notes BEGIN
  INSERT INTO note_words (rowid, text, tags_json) VALUES (NEW.seq, NEW.text, NEW.tags_json);
END;
CREATE TRIGGER note_words_deleted AFTER DELETE ON notes BEGIN
  INSERT INTO note_words (note_words, rowid, text, tags_json) VALUES ('delete', OLD.seq, OLD.text, OLD.tags_json);
END;
CREATE TRIGGER note_words_changed AFTER UPDATE OF text, tags_json ON notes BEGIN
  INSERT INTO note_words (note_words, rowid, text, tags_json) VALUES ('delete', OLD.seq, OLD.text, OLD.tags_json);
  INSERT INTO note_words (rowid, text, tags_json) VALUES (NEW.seq, NEW.text, NEW.tags_json);
END;
`;

/** How often each note was written, whatever writes it: a redaction, too. */
export const noteVersionsSql = `
ALTER TABLE notes ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
CREATE TRIGGER notes_versions AFTER UPDATE OF text, tags_json ON notes BEGIN
  UPDATE notes SET version = version + 1 WHERE seq = NEW.seq;
END;
`;

/** In a project's database: changes of profiles' notes that the catalog does not have yet. */
export const profileChangesSql = `
CREATE TABLE profile_changes (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  -- The project's when it was written: a copy of the project does not repeat it.
  epoch INTEGER NOT NULL,
  profile_id TEXT NOT NULL,
  change_json TEXT NOT NULL
) STRICT;
`;

/** In the catalog: up to where each project's changes are in its notes. */
export const carriedChangesSql = `
CREATE TABLE profile_changes_carried (
  project TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  through_seq INTEGER NOT NULL,
  PRIMARY KEY (project, epoch)
) STRICT, WITHOUT ROWID;
`;
