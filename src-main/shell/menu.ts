/** The application menu: what a platform's people expect and the window does not do itself. */
import { Menu, type MenuItemConstructorOptions } from 'electron'

/** @param platform decides whether there is an application menu (macOS) or a Quit under File */
export function buildMenu(platform: NodeJS.Platform): Menu {
  const own: MenuItemConstructorOptions[] =
    platform === 'darwin' ? [{ role: 'appMenu' }] : [{ label: 'File', submenu: [{ role: 'close' }, { role: 'quit' }] }]
  return Menu.buildFromTemplate([
    ...own,
    {
      label: 'Edit',
      submenu: [
        { role: 'undo' },
        { role: 'redo' },
        { type: 'separator' },
        { role: 'cut' },
        { role: 'copy' },
        { role: 'paste' },
        { role: 'selectAll' },
      ],
    },
    {
      label: 'View',
      submenu: [
        { role: 'resetZoom' },
        { role: 'zoomIn' },
        { role: 'zoomOut' },
        { type: 'separator' },
        { role: 'togglefullscreen' },
      ],
    },
    { role: 'windowMenu' },
  ])
}
