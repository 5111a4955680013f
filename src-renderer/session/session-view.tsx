/** One session: header, timeline, and the selected moment beside it. */
import { Group, Panel, Separator, useDefaultLayout } from 'react-resizable-panels'
import { Boundary } from '../elements/boundary.tsx'
import { Loading, Problem } from '../elements/problem.tsx'
import { Waiting } from '../escalation/waiting.tsx'
import { useHost, useSession } from '../host/context.ts'
import { MomentPane } from '../moment/moment.tsx'
import { Timeline } from '../timeline/timeline.tsx'
import { SessionHeader } from './header.tsx'
import { Story } from './story.tsx'

export function SessionView() {
  const { session } = useHost()
  const load = useSession((state) => state.load)
  const problem = useSession((state) => state.problem)
  const details = useSession((state) => state.details)
  const timeline = useSession((state) => state.timeline)
  const layout = useDefaultLayout({ id: 'rewind:session-panes' })
  if (load === 'failed' && problem && !timeline)
    return <Problem message={problem.message} nextStep={problem.nextStep} again={() => void session.reload()} />
  if (!details || !timeline) return <Loading what="Opening the session" />
  return (
    <main className="flex h-full min-h-0 flex-col">
      <SessionHeader details={details} timeline={timeline} />
      {details.demo ? <Story /> : null}
      <Waiting details={details} />
      <Group orientation="horizontal" className="min-h-0 flex-1" {...layout}>
        <Panel id="timeline" defaultSize="40%" minSize={280}>
          <Boundary name="Timeline">
            <Timeline key={timeline.session} timeline={timeline} />
          </Boundary>
        </Panel>
        <Separator className="w-px bg-line outline-none data-[separator=active]:bg-accent data-[separator=hover]:bg-accent" />
        <Panel id="moment" minSize={360}>
          <MomentPane />
        </Panel>
      </Group>
    </main>
  )
}
