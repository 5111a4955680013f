/**
 * The process in a sandbox's network: connects to what listens there, for the host, and hands on what either says. It has
 * no more rights than a command of the agent's, and is none: no process inside sees it. It ends with its input.
 *
 * Its arguments are the user and group to be, where it has to become them.
 */
import { Channel } from './channel.ts'
import { dial } from './dial.ts'
import { Decoder, encode, type Frame, numberOf } from './frames.ts'
import { join } from './join.ts'

const [uid, gid] = process.argv.slice(2).map(Number)
if (uid !== undefined && gid !== undefined) {
  process.setgroups?.([])
  process.setgid?.(gid)
  process.setuid?.(uid)
}

const channels = new Map<number, Channel>()
const send = (bytes: Uint8Array): void => void process.stdout.write(bytes)

async function open(id: number, port: number): Promise<void> {
  const channel = new Channel(
    (kind, bytes) => send(encode(kind, id, bytes)),
    () => channels.delete(id),
  )
  channel.on('error', () => {})
  channels.set(id, channel)
  const gone = new AbortController()
  channel.once('close', () => gone.abort())
  try {
    const socket = await dial(port, gone.signal)
    // The host may have let go of it meanwhile.
    if (channel.destroyed) return void socket.destroy()
    send(encode('opened', id))
    join(channel, socket)
  } catch (error) {
    if (channel.destroyed) return
    send(encode('refused', id, Buffer.from((error as NodeJS.ErrnoException).code ?? 'EIO')))
    channel.cut()
  }
}

function take(frame: Frame): void {
  if (frame.kind === 'open') void open(frame.id, numberOf(frame))
  else channels.get(frame.id)?.hear(frame)
}

const decoder = new Decoder(take)
const leave = (): never => process.exit(0)
process.stdin.on('data', (chunk: Buffer) => decoder.push(chunk))
process.stdin.once('end', leave).once('close', leave).once('error', leave)
process.stdout.once('error', leave)
