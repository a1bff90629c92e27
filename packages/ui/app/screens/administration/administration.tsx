import { ScreenHead } from '../../parts/frame/screen.js';
import { Empty } from '../../parts/frame/states.js';
import { currentProject } from '../../router.js';
import { may, offers } from '../../state/session.js';
import { Consumers } from './consumers.js';
import { Tokens } from './tokens.js';

/** What belongs to the instance: the consumers of events, and the API tokens. */
export function AdministrationScreen() {
  const project = currentProject();
  // True only once the permissions are known.
  const isRefused = !may('listConsumers', project) && !may('listTokens', project);
  return (
    <section>
      <ScreenHead title="Administration" />
      {isRefused && <Empty title="You may see neither consumers nor API tokens" />}
      {offers('listConsumers', project) && <Consumers />}
      {offers('listTokens', project) && <Tokens />}
    </section>
  );
}
