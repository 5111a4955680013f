/**
 * The bridge between the page and the shell, in a world of its own: one message port for the contract and the
 * platform's folder dialog. It is small because everything in it is reachable by whatever runs in the page.
 */
import { contextBridge, ipcRenderer } from 'electron'
import { PICK_FOLDER, RPC_PORT } from './channels.ts'

contextBridge.exposeInMainWorld('rewindShell', {
  kind: 'electron',
  pickFolder: (): Promise<string | null> => ipcRenderer.invoke(PICK_FOLDER),
})

// Ports cannot cross the context bridge; they come by a message from the page to itself.
window.addEventListener('message', (event) => {
  if (event.source === window && event.data === RPC_PORT) ipcRenderer.postMessage(RPC_PORT, null, [...event.ports])
})
