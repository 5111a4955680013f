/** Where a new session runs: which engine, and for docker its image and what goes back with a rewind. */
import { useId } from 'react'
import type { EngineChoice, EnginesOffer, SandboxScope } from '../../src-main/contract/index.ts'
import { Segments } from '../elements/segments.tsx'
import { Words } from '../elements/words.tsx'

export interface ChosenEngine {
  engine: EngineChoice
  /** As typed; empty for the one that sandboxes get by default. */
  image: string
  scope: SandboxScope
}

/** What a session gets where nobody touches the form. */
export const AS_IT_COMES: ChosenEngine = { engine: 'auto', image: '', scope: 'machine' }

const NAMES = { auto: 'Automatic', docker: 'Docker', local: 'Local' } as const

/** What the session is begun with. */
export const wishOf = ({ engine, image, scope }: ChosenEngine) =>
  engine === 'docker' ? { engine, scope, ...(image.trim() ? { image: image.trim() } : {}) } : { engine }

/** Why the engine that was chosen cannot be used here; null where it can, or where that is not known. */
export function obstacle(offer: EnginesOffer | null, engine: EngineChoice): { reason: string; remedy: string } | null {
  if (offer === null) return null
  if (engine === 'auto')
    return offer.auto.engine === null ? { reason: offer.auto.why, remedy: 'Run `rewind doctor` in a terminal.' } : null
  const one = offer[engine]
  return one.ok ? null : one
}

/** What the choice means, in a line. */
export function meaning(offer: EnginesOffer, { engine, image }: ChosenEngine): string {
  if (engine === 'auto') return `${NAMES[offer.auto.engine ?? 'auto']}: ${offer.auto.why}`
  if (engine === 'local')
    return 'Tools of this machine, to be looked at only; the project and a home of its own to be changed.'
  if (image.trim() !== '') return 'Where docker does not hold that image, it is pulled first.'
  return offer.image.present
    ? 'A machine of its own: what is installed in it goes back with a rewind, too.'
    : 'Its image is made first, once: that takes some minutes and a gigabyte.'
}

interface EngineFieldsProps {
  offer: EnginesOffer | null
  chosen: ChosenEngine
  field: string
  onChange(chosen: ChosenEngine): void
}

export function EngineFields({ offer, chosen, field, onChange }: EngineFieldsProps) {
  const imageId = useId()
  const stopped = obstacle(offer, chosen.engine)
  return (
    <>
      <div>
        <div className="flex items-center justify-between">
          <span className="text-small text-ink-2">Runs in</span>
          <Segments
            label="Runs in"
            value={chosen.engine}
            choices={(['auto', 'docker', 'local'] as const).map((value) => ({ value, text: NAMES[value] }))}
            onChange={(engine) => onChange({ ...chosen, engine })}
          />
        </div>
        <p className={`mt-1 min-h-8 text-small break-words ${stopped ? 'text-warn' : 'text-ink-3'}`}>
          {stopped ? (
            <Words>{`${stopped.reason} ${stopped.remedy}`}</Words>
          ) : offer ? (
            <Words>{meaning(offer, chosen)}</Words>
          ) : null}
        </p>
      </div>
      {chosen.engine === 'docker' ? (
        <>
          <div>
            <label htmlFor={imageId} className="mb-1 block text-small text-ink-2">
              Image
            </label>
            <input
              id={imageId}
              spellCheck={false}
              maxLength={255}
              value={chosen.image}
              onChange={(event) => onChange({ ...chosen, image: event.target.value })}
              placeholder={offer?.image.name}
              className={`font-mono text-code ${field}`}
            />
          </div>
          <div className="flex items-center justify-between">
            <span className="text-small text-ink-2">A rewind takes back</span>
            <Segments
              label="A rewind takes back"
              value={chosen.scope}
              choices={[
                { value: 'machine', text: 'The whole machine' },
                { value: 'workspace', text: 'The workspace' },
              ]}
              onChange={(scope) => onChange({ ...chosen, scope })}
            />
          </div>
        </>
      ) : null}
    </>
  )
}
