/** What the app asked its surroundings for. Tests read it (`globalThis.standin`), and put answers of a person there. */
import type { MenuItemConstructorOptions, MessageBoxOptions, OpenDialogReturnValue } from 'electron'

export const record = {
  /** Addresses that went to the person's browser. */
  external: [] as string[],
  errors: [] as { title: string; content: string }[],
  dialogs: [] as unknown[],
  dialogAnswers: [] as OpenDialogReturnValue[],
  questions: [] as MessageBoxOptions[],
  /** Places of the buttons that the person presses; the first where there is none left. */
  questionAnswers: [] as number[],
  /** Whether the person has another program in front of them. */
  isElsewhere: false,
  /** What stands on the desktop. */
  notifications: [] as { title: string; body: string; click(): void }[],
  badge: 0,
  tray: undefined as { tip: string; menu: MenuItemConstructorOptions[] } | undefined,
  menu: [] as MenuItemConstructorOptions[],
  /** What the app answers when a page asks for a permission. */
  permissionRequest: undefined as ((permission: string) => boolean | undefined) | undefined,
  permissionCheck: undefined as ((permission: string) => boolean) | undefined,
  devicePermission: undefined as (() => boolean) | undefined,
}

Object.assign(globalThis, { standin: record })
