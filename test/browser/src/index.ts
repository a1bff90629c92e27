export { accessibilityViolations } from './accessibility.js';
export { sharedBrowser } from './shared-browser.js';
export { connectBrowser, disconnectBrowser, type Visit, type VisitOptions, visit } from './visit.js';
