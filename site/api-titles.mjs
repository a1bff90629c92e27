import { dirname } from 'node:path/posix';
import { PageEvent } from 'typedoc';

/** A plugin of TypeDoc: the main entry of a package has no name, and its page gets the package's. */
export function load({ renderer }) {
  renderer.on(PageEvent.END, (page) => {
    page.contents = page.contents?.replace(/^# *\n/, `# ${dirname(page.url)}\n`);
  });
}
