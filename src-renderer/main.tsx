/** Starts the window: one link to the host, one set of stores, one tree. */
import { createHost } from './host/host.ts'
import { connect } from './host/link.ts'
import { mount } from './mount.tsx'

mount(createHost(connect()))
