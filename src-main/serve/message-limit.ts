/** The largest message that crosses a socket, in bytes: a whole file in base64, a long history. Both ends keep to it. */
export const MAX_MESSAGE_BYTES = 256 * 1024 * 1024
