export {
  createFlagsUi,
  createFlagsUiFetchHandler,
  type FlagsUiFetchHandler,
  type FlagsUiHandler,
} from './create-flags-ui.js';
export type { Banner, FlagsUiOptions } from './options.js';
