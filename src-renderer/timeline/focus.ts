/** The timeline is where the keys are, unless somebody put the focus elsewhere. */
export const TIMELINE_ID = 'timeline-moments'

/** For what closes or is chosen: the arrow keys are the timeline's again. One that is yet to come takes them itself. */
export function focusTimeline(): void {
  if (document.querySelector('dialog[open]')) return
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
  document.getElementById(TIMELINE_ID)?.focus({ preventScroll: true })
}

/** Whether nothing has the focus: a control that went away leaves it nowhere. */
export const isFocusNowhere = (): boolean => document.activeElement === null || document.activeElement === document.body
