/** The window's own sheets, opened from anywhere. */
import { useEffect, useRef } from 'react'
import { useStore } from 'zustand'
import { ConnectSheet } from '../connect/connect.tsx'
import { DoctorSheet } from '../doctor/doctor.tsx'
import { PreferencesSheet } from '../preferences/sheet.tsx'
import { onAction } from '../session/keys.ts'
import { focusTimeline } from '../timeline/focus.ts'
import { closeSheet, focusAsBefore, openSheet, sheets } from './sheets-store.ts'

const NAMES = ['connect', 'doctor', 'preferences'] as const

export function Sheets() {
  const open = useStore(sheets, (state) => state.open)
  const wasOpen = useRef(false)
  useEffect(() => {
    // The dialog has gone by now.
    if (wasOpen.current && open === null && !focusAsBefore()) focusTimeline()
    wasOpen.current = open !== null
  }, [open])
  useEffect(() => {
    const stops = NAMES.map((name) => onAction(name, () => openSheet(name)))
    return () => {
      for (const stop of stops) stop()
    }
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
