import { closeSharedBrowser } from './shared-browser.js';

export default closeSharedBrowser;
