/**
 * The kinds of doors. A runner's `controllerUrl` says which one it has:
 *
 * - `unix:<path>`: HTTP over a unix socket
 * - `stdio:`: HTTP connections in frames over its own stdin and stdout
 * - `http://…`: HTTP over TCP, such as the shim's loopback address
 */
export const stdioDoorUrl = 'stdio:';

/** The prefix of a unix socket's `controllerUrl`. */
export const unixDoorPrefix = 'unix:';

/** Where a turn's files are inside a container, unless `SUZUMIO_TURN_DIR` says otherwise. */
export const defaultTurnDir = '/turn';

/** The door's socket, in the turn's directory. */
export const doorSocket = 'door/door.sock';

/** The loopback port on which the shim serves foreign runners, in the container's own network namespace. */
export const shimPort = 39401;

/** The largest body of `POST /tool` and of its answer. */
export const maxToolBodyBytes = 8 * 1024 * 1024;

/** The largest tool call that a ToolHost takes: a report or a long message with its JSON around it. */
export const maxCallBytes = 2 * 1024 * 1024;

/** The most members of all its lists and objects: the cost of parsing grows with them. */
export const maxCallMembers = 20_000;

/** The exit code of a runner whose door did not answer for as long as its limits allow. */
export const doorAwayExitCode = 75;
