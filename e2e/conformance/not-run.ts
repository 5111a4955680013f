/** Scenarios of the suite that say nothing about the product, each with the reason. */

const ASKS_BACK = 'the product asks its clients nothing back'
const NOT_REQUIRED = 'an extension, or not yet required by the revision'

export const notRun: Readonly<Record<string, string>> = {
  'completion-complete': 'the product has no prompts whose arguments could be completed',
  'resources-subscribe': 'the product has no resources to watch',
  'resources-unsubscribe': 'the product has no resources to watch',
  'tools-call-sampling': ASKS_BACK,
  'tools-call-elicitation': ASKS_BACK,
  'elicitation-sep1034-defaults': ASKS_BACK,
  'elicitation-sep1330-enums': ASKS_BACK,
  'input-required-result-basic-elicitation': ASKS_BACK,
  'input-required-result-basic-sampling': ASKS_BACK,
  'input-required-result-basic-list-roots': ASKS_BACK,
  'input-required-result-request-state': ASKS_BACK,
  'input-required-result-multiple-input-requests': ASKS_BACK,
  'input-required-result-multi-round': ASKS_BACK,
  'input-required-result-non-tool-request': ASKS_BACK,
  'input-required-result-result-type': ASKS_BACK,
  'input-required-result-tampered-state': ASKS_BACK,
  'input-required-result-capability-check': ASKS_BACK,
  'tasks-lifecycle': NOT_REQUIRED,
  'tasks-capability-negotiation': NOT_REQUIRED,
  'tasks-wire-fields': NOT_REQUIRED,
  'tasks-request-state-removal': NOT_REQUIRED,
  'tasks-mrtr-input': NOT_REQUIRED,
  'tasks-request-headers': NOT_REQUIRED,
  'tasks-dispatch-and-envelope': NOT_REQUIRED,
  'tasks-required-task-error': NOT_REQUIRED,
  'tasks-mrtr-composition': NOT_REQUIRED,
  'tasks-status-notifications': NOT_REQUIRED,
  'json-schema-2020-12': NOT_REQUIRED,
  'http-custom-header-server-validation': NOT_REQUIRED,
  'server-sse-polling': NOT_REQUIRED,
}
