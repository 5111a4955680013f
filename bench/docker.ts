/** What each step costs in docker, beside what docker itself needs for the least. */
import type Docker from 'dockerode'
import { connectDocker, imageState, productImage } from '../src-main/sandbox/index.ts'
import type { Session } from '../src-main/session/index.ts'
import { type Figure, figureOf, repeat, timed } from './measure.ts'

export interface DockerFloors {
  /** One container of the product's image, created and started. */
  container: Figure
  /** One `docker exec` of a program that does nothing, over the engine's socket. */
  exec: Figure
}

/** @returns null where no engine answers, or it does not hold the product's image */
export async function dockerHere(): Promise<Docker | null> {
  try {
    const { docker } = await connectDocker()
    return (await imageState(docker, productImage())) === 'present' ? docker : null
  } catch {
    return null
  }
}

export async function dockerFloors(docker: Docker, runs: number): Promise<DockerFloors> {
  const made: Docker.Container[] = []
  try {
    const container = await repeat(Math.min(runs, 5), async () => {
      const one = await docker.createContainer({
        Image: productImage(),
        Cmd: ['sleep', '600'],
        HostConfig: { Init: true },
      })
      made.push(one)
      await one.start()
    })
    const exec = await repeat(runs, async () => {
      const one = await made[0]?.exec({ Cmd: ['true'], AttachStdout: true })
      const stream = await one?.start({})
      stream?.resume()
      await new Promise((resolve) => stream?.once('end', resolve))
    })
    return { container, exec }
  } finally {
    for (const one of made) await one.remove({ force: true })
  }
}

type Add = (name: string, figure: Figure, floor: keyof DockerFloors) => void

/**
 * @param begin begins a session in docker
 * @param run a command in it, to its end
 */
export async function measureDocker(
  parts: {
    begin(): Promise<Session>
    run(session: Session, command: string[], user?: 'root'): Promise<void>
    runs: number
  },
  add: Add,
): Promise<void> {
  const { begin, run, runs } = parts
  const starts: number[] = []
  for (let at = 0; at < Math.min(runs, 5); at++) {
    let session: Session | undefined
    starts.push(
      await timed(async () => {
        session = await begin()
        await run(session, ['true'])
      }),
    )
    await session?.destroy()
  }
  add('docker: start to first command', figureOf(starts), 'container')

  const session = await begin()
  add('docker: run true', await repeat(runs, () => run(session, ['true'])), 'exec')
  for (const machineToo of [false, true]) {
    const change = async (text: string) => {
      await session.write({ path: 'counter', content: text, encoding: 'utf-8', tool: null })
      if (machineToo) await run(session, ['sh', '-c', `echo ${text} >/etc/counter`], 'root')
    }
    const what = machineToo ? ', machine changed too' : ''
    const checkpoints: number[] = []
    const rollbacks: number[] = []
    for (let at = 0; at < runs; at++) {
      const label = `${machineToo ? 'm' : 'w'}${at}`
      await change(label)
      checkpoints.push(await timed(() => session.checkpoint({ label, why: null, messages: null, takenBy: 'you' })))
    }
    for (let at = 0; at < runs; at++) {
      await change(`changed${at}`)
      rollbacks.push(
        await timed(() => session.rollback({ to: machineToo ? 'm0' : 'w0', only: null, patchNotes: null })),
      )
    }
    add(`docker: checkpoint${what}`, figureOf(checkpoints), 'exec')
    add(`docker: rollback${what}`, figureOf(rollbacks), 'exec')
  }
  await session.destroy()
}
