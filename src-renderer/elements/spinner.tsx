import { LoaderCircle } from 'lucide-react'

export const Spinner = () => <LoaderCircle size={14} aria-hidden="true" className="shrink-0 animate-spin" />
