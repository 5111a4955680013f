/** What passes between preload and main: a port for the contract, and the platform's folder dialog. Nothing else. */
export const RPC_PORT = 'rewind:rpc-port'
export const PICK_FOLDER = 'rewind:pick-folder'
