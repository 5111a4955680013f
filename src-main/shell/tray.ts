/** The icon among the desktop's own: what brings the window back while it is closed and sessions go on. */
import { Menu, nativeImage, Tray } from 'electron'
import type { Escalation } from '../contract/index.ts'
import { visibleName } from '../contract/text.ts'

export interface TrayIcon {
  show(waiting: readonly Escalation[]): void
}

/** Pixels, as each desktop draws them. */
const SIZE: Partial<Record<NodeJS.Platform, number>> = { darwin: 18, win32: 16 }

export function createTray(icon: string, { open, quit }: { open(): void; quit(): void }): TrayIcon {
  const height = SIZE[process.platform] ?? 24
  const tray = new Tray(nativeImage.createFromPath(icon).resize({ height }))
  tray.on('click', open)
  const show = (waiting: readonly Escalation[]) => {
    tray.setToolTip(waiting.length === 0 ? 'Rewind' : `Rewind: ${waitingText(waiting.length)}`)
    // Desktops of Linux show the menu that was set last, and none that is changed.
    tray.setContextMenu(
      Menu.buildFromTemplate([
        ...waiting.map(({ sessionName }) => ({ label: `Decide: ${visibleName(sessionName)}…`, click: open })),
        ...(waiting.length > 0 ? [{ type: 'separator' as const }] : []),
        { label: 'Show Rewind', click: open },
        { label: 'Quit Rewind', click: quit },
      ]),
    )
  }
  show([])
  return { show }
}

const waitingText = (count: number): string => (count === 1 ? 'one decision waits' : `${count} decisions wait`)
