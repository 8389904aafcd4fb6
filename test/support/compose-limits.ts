/** How `docker-compose.yml` starts a service, but on this machine's network: what `docker run` is told of its limits. */
export const asComposeStarts: readonly string[] = [
  ...['--init', '--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges:true'],
  ...['--tmpfs', '/tmp:size=64m,mode=1777', '--pids-limit', '200', '--memory', '512m', '--memory-swap', '512m'],
  ...['--network', 'host'],
];
