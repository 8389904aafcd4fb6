/**
 * What Git is told on a worker's host, as its only configuration outside of repositories: it runs nothing that a
 * repository names, asks nobody, follows no redirect, and checks what it is sent. A file, because the processes that
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
