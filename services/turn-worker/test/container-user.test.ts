import { describe, expect, test } from '@jest/globals';
import { containerUser } from '../src/engine/docker/container-user.js';
import { tarEntry } from '../src/engine/docker/image-files.js';

const image = {
  passwd: 'root:x:0:0:root:/root:/bin/bash\nnode:x:1000:1000::/home/node:/bin/bash\n',
  group: 'root:x:0:\nnode:x:1000:\nstaff:x:50:node\n',
};

describe('the user of a container', () => {
  test('has an entry after those of the image', () => {
    const owner = { uid: 390_000_007, gid: 39_400 };
    expect(containerUser(image, owner, '/home/agent', '/tmp')).toEqual({
      name: 'agent',
      home: '/home/agent',
      passwd: `${image.passwd}agent:x:390000007:39400:Agent:/home/agent:/bin/sh\n`,
      group: `${image.group}agent:x:39400:\n`,
    });
  });

  test('keeps the name that the image has for it, with the home of the turn', () => {
    const { name, home, passwd, group } = containerUser(image, { uid: 1000, gid: 1000 }, '/home/agent', '/tmp');
    expect([name, home, group]).toEqual(['node', '/home/agent', image.group]);
    expect(passwd).toBe(image.passwd.replace('/home/node', '/home/agent'));
  });

  test('has the home of its entry, or another that can be written, where the environment has none', () => {
    expect(containerUser(image, { uid: 1000, gid: 50 }, undefined, '/tmp')).toEqual({
      name: 'node',
      home: '/home/node',
      ...image,
    });
    expect(containerUser(image, { uid: 7, gid: 50 }, undefined, '/tmp')).toMatchObject({
      home: '/tmp',
      passwd: expect.stringMatching(/\nagent:x:7:50:Agent:\/tmp:\/bin\/sh\n$/),
    });
  });

  test.each([
    ['an image without users', { passwd: '', group: '' }, 'agent', /^agent:x:7:8:Agent:\/h:\/bin\/sh\n$/],
    ['a last line that is not ended', { ...image, passwd: 'root:x:0:0::/:' }, 'agent', /^root:x:0:0::\/:\nagent:x:7:/],
    ['a name that is taken', { ...image, passwd: 'agent:x:5:5::/:\n' }, 'agent2', /^agent:x:5:5::\/:\nagent2:x:7:8:/],
    [
      'two names of one number',
      { ...image, passwd: 'a:x:7:7::/a:\nb:x:7:7::/b:\n' },
      'a',
      /^a:x:7:7::\/h:\nb:x:7:7::\/b:\n$/,
    ],
    ['an entry that is too short', { ...image, passwd: 'short:x:7\n' }, 'short', /^short:x:7\n$/],
  ])('is named beside %s', (_what, users, name, passwd) => {
    const user = containerUser(users, { uid: 7, gid: 8 }, '/h', '/tmp');
    expect(user.name).toBe(name);
    expect(user.passwd).toMatch(passwd);
  });

  test.each(['/a:b', '/a\nroot2:x:0:0::/:', ''])('has no home that would be another entry: %j', (home) => {
    const { passwd } = containerUser(image, { uid: 7, gid: 8 }, home, '/tmp');
    expect(passwd).toBe(`${image.passwd}agent:x:7:8:Agent:/tmp:/bin/sh\n`);
  });
});

describe('a file of an archive', () => {
  const block = (type: string, content: string, link = ''): Buffer => {
    const header = Buffer.alloc(512);
    header.write('passwd', 0);
    header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
    header.write(type, 156);
    header.write(link, 157);
    const body = Buffer.alloc(Math.ceil(content.length / 512) * 512);
    body.write(content, 'latin1');
    return Buffer.concat([header, body]);
  };

  test('is found after what only describes it', () => {
    const tar = Buffer.concat([block('x', '30 mtime=1.5\n'), block('0', 'caf\xe9:x:1'), Buffer.alloc(1024)]);
    expect(tarEntry(tar)).toEqual({ content: 'caf\xe9:x:1' });
  });

  test('may be a link', () => expect(tarEntry(block('2', '', '/nix/p'))).toEqual({ content: '', link: '/nix/p' }));

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['a directory', block('5', '')],
    ['only a description', block('x', 'a')],
  ])('is empty in an archive of %s', (_what, tar) => expect(tarEntry(tar)).toEqual({ content: '' }));
});
