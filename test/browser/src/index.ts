export { accessibilityViolations } from './accessibility.js';
export { closeSharedBrowser, sharedBrowser, startSharedBrowser } from './shared-browser.js';
export { connectBrowser, disconnectBrowser, type Visit, type VisitOptions, visit } from './visit.js';
