/**
 * Git's configuration where it inspects or fetches a repository, as its only configuration outside of repositories: it runs nothing that a
 * repository names, asks no person, follows no redirect, and checks what it is sent. A file, because the processes that
 * Git itself starts read it, too, which they do not with what is given to it on the command line.
 */
export const gitConfig = `
[core]
	hooksPath = /dev/null
	attributesFile = /dev/null
	excludesFile = /dev/null
	fsmonitor = false
	untrackedCache = false
	askPass = /bin/false
	sshCommand = /bin/false
	symlinks = true
	protectHFS = true
	protectNTFS = true
	# No reflog, which would name paths of this host; nothing written turns them off for the agent.
	logAllRefUpdates = false
	bigFileThreshold = 32m
[credential]
	helper =
[http]
	followRedirects = false
	lowSpeedLimit = 1000
	lowSpeedTime = 60
[transfer]
	fsckObjects = true
	unpackLimit = 1
	bundleURI = false
# Faults of old commits that harm nobody, and are in many histories.
[fetch "fsck"]
	zeroPaddedFilemode = ignore
	missingSpaceBeforeDate = ignore
	badTimezone = ignore
[fetch]
	recurseSubmodules = false
	writeCommitGraph = false
[submodule]
	recurse = false
[pack]
	# The same repository makes the same pack each time, so that agents share its content.
	threads = 1
	windowMemory = 128m
[gc]
	auto = 0
[maintenance]
	auto = false
[advice]
	detachedHead = false
`;

/** Git's environment: no variable of the process that starts it. */
export const gitEnvironment = {
  PATH: ['/usr/local/bin', '/usr/bin', '/bin'].join(':'),
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '/bin/false',
  SSH_ASKPASS: '/bin/false',
  GIT_PROTOCOL_FROM_USER: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_OPTIONAL_LOCKS: '0',
} as const;
