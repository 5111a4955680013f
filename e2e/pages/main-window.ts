/** The window as a person finds their way in it: by roles and by the words on its controls. */
import type { Locator, Page } from 'playwright-core'

export type Tab = 'Changes' | 'Messages' | 'Output' | 'Agent' | 'Ledger' | 'Processes'

export class MainWindow {
  readonly page: Page

  constructor(page: Page) {
    this.page = page
  }

  // Sessions

  /** Around the list, which is there only where there are sessions. */
  get sessionsPane(): Locator {
    return this.page.getByRole('navigation', { name: 'Sessions pane' })
  }

  get sessions(): Locator {
    return this.page.getByRole('listbox', { name: 'Sessions' })
  }

  session(name: string): Locator {
    return this.sessions.getByRole('option', { name: new RegExp(`^${name},`) })
  }

  /** In the empty state; beside the session list it is there too. */
  get watchDemo(): Locator {
    return this.page.getByRole('main').getByRole('button', { name: 'Watch the demo' })
  }

  get story(): Locator {
    return this.page.getByRole('region', { name: 'Story' })
  }

  // Timeline

  get timeline(): Locator {
    return this.page.getByRole('listbox', { name: 'Timeline' })
  }

  /** A row by how it is spoken, such as /^stable, checkpoint, pass/. */
  point(spoken: RegExp): Locator {
    return this.timeline.getByRole('option', { name: spoken })
  }

  get now(): Locator {
    return this.point(/^Now/)
  }

  /** Everything that the timeline shows, newest first, as it is spoken. */
  spoken(): Promise<string[]> {
    return this.timeline
      .getByRole('option')
      .evaluateAll((options) => options.map((option) => option.getAttribute('aria-label') ?? ''))
  }

  // What changes a session

  button(name: 'Checkpoint' | 'Rewind' | 'Undo rewind' | 'Commit to workspace'): Locator {
    return this.page.getByRole('main').getByRole('button', { name, exact: true })
  }

  get share(): Locator {
    return this.page.getByRole('switch', { name: 'Share with agents' })
  }

  /** The folder that an agent asks for. */
  get folderRequest(): Locator {
    return this.page.getByRole('region', { name: /asks to work in a folder$/ })
  }

  get sheet(): Locator {
    return this.page.getByRole('dialog', { name: /^Rewind to / })
  }

  /** Also after it was done, and undone. */
  get commitSheet(): Locator {
    return this.page.getByRole('dialog', { name: /^Commit|^Nothing to commit/ })
  }

  get toast(): Locator {
    return this.page.getByRole('status').filter({ hasText: /Rewound|undone|Nothing to take back|taken in/ })
  }

  // The selected moment

  tab(name: Tab): Locator {
    return this.page.getByRole('tab', { name })
  }

  get files(): Locator {
    return this.page.getByRole('tree', { name: 'Files' })
  }

  /** A row of them as it is spoken, such as 'auth.py, modified'. */
  file(spoken: string | RegExp): Locator {
    return this.files.getByRole('treeitem', { name: spoken })
  }

  difference(path: string): Locator {
    return this.page.getByRole('region', { name: `Difference of ${path}` })
  }

  get conversation(): Locator {
    return this.page.getByRole('list', { name: 'Conversation' })
  }

  get providers(): Locator {
    return this.page.getByRole('list', { name: 'Providers' })
  }

  get cut(): Locator {
    return this.page.getByRole('list', { name: 'Cut by the rewind' })
  }

  /** What was said after the point that is looked at. */
  get later(): Locator {
    return this.page.getByRole('list', { name: 'After this point' })
  }

  get toolCalls(): Locator {
    return this.page.getByRole('list', { name: 'Tool calls' })
  }

  get ledger(): Locator {
    return this.page.getByRole('grid', { name: 'Ledger rows' })
  }

  get hostIsAway(): Locator {
    return this.page.getByText('The host is away')
  }
}
