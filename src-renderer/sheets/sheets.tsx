/** The window's own sheets, and the keys that open them from anywhere. */
import { useEffect, useRef } from 'react'
import { useStore } from 'zustand'
import { ConnectSheet } from '../connect/connect.tsx'
import { DoctorSheet } from '../doctor/doctor.tsx'
import { PreferencesSheet } from '../preferences/sheet.tsx'
import { focusTimeline } from '../timeline/focus.ts'
import { closeSheet, focusAsBefore, openSheet, sheets } from './sheets-store.ts'

export function Sheets() {
  const open = useStore(sheets, (state) => state.open)
  const wasOpen = useRef(false)
  useEffect(() => {
    // The dialog has gone by now.
    if (wasOpen.current && open === null && !focusAsBefore()) focusTimeline()
    wasOpen.current = open !== null
  }, [open])
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== ',' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
      event.preventDefault()
      if (!document.querySelector('dialog[open]')) openSheet('preferences')
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [])
  switch (open) {
    case 'connect':
      return <ConnectSheet close={closeSheet} />
    case 'doctor':
      return <DoctorSheet close={closeSheet} />
    case 'preferences':
      return <PreferencesSheet close={closeSheet} />
    case null:
      return null
  }
}
