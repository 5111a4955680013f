/** Puts the window into the page for a given host; the product and the fixtures' page both come through here. */
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './theme.css'
import { App } from './app.tsx'
import { Boundary } from './elements/boundary.tsx'
import { HostContext } from './host/context.ts'
import type { Host } from './host/host.ts'
import { applyPreferences } from './preferences/preferences.ts'

export function mount(host: Host): void {
  const root = document.getElementById('root')
  if (!root) throw new Error('The page has no #root to draw into.')
  applyPreferences()
  host.start()
  createRoot(root).render(
    <StrictMode>
      <Boundary
        name="Window"
        onFault={() => {
          const { open } = host.sessions.getState()
          if (open) host.trouble.fell(open)
        }}
      >
        <HostContext value={host}>
          <App />
        </HostContext>
      </Boundary>
    </StrictMode>,
  )
}
