/** What the app asked its surroundings for. Tests read it (`globalThis.standin`), and put answers of a person there. */
import type { MenuItemConstructorOptions, OpenDialogReturnValue } from 'electron'

export const record = {
  /** Addresses that went to the person's browser. */
  external: [] as string[],
  errors: [] as { title: string; content: string }[],
  dialogs: [] as unknown[],
  dialogAnswers: [] as OpenDialogReturnValue[],
  menu: [] as MenuItemConstructorOptions[],
  /** What the app answers when a page asks for a permission. */
  permissionRequest: undefined as ((permission: string) => boolean | undefined) | undefined,
  permissionCheck: undefined as ((permission: string) => boolean) | undefined,
  devicePermission: undefined as (() => boolean) | undefined,
}

Object.assign(globalThis, { standin: record })
