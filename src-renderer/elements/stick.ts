/** A scroller that stays at its end while its end is in view, as a terminal does. */
import { type RefObject, useEffect, useRef } from 'react'

/** Nearer to the end than this counts as at the end, in px. */
const NEAR_PX = 8

/**
 * @param version another one after each change of the content
 * @returns the ref for the scroller
 */
export function useStickToEnd<T extends HTMLElement>(version: unknown): RefObject<T | null> {
  const box = useRef<T>(null)
  const atEnd = useRef(true)
  useEffect(() => {
    const element = box.current
    if (!element) return
    const look = () => {
      atEnd.current = element.scrollTop + element.clientHeight >= element.scrollHeight - NEAR_PX
    }
    element.addEventListener('scroll', look, { passive: true })
    return () => element.removeEventListener('scroll', look)
  }, [])
  useEffect(() => {
    if (box.current && atEnd.current) box.current.scrollTop = box.current.scrollHeight
  }, [version])
  return box
}
