import { startSharedBrowser } from './shared-browser.js';

export default startSharedBrowser;
