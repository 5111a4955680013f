export { escaped } from './html.ts'
export { redactor } from './redact.ts'
export { MOST_ROWS, type ReportData, report } from './report.ts'
