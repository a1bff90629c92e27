import type { ListedChangeRequest } from '../../api/types.js';
import { Link } from '../control/controls.js';

const SHOWN = 3;

/** Links to the first flags of a request. */
export function FlagLinks({ flags }: Pick<ListedChangeRequest, 'flags'>) {
  return (
    <>
      {flags.slice(0, SHOWN).map(({ project, flag }) => (
        <Link key={flag} to={['projects', project, 'flags', flag]}>
          {flag}
        </Link>
      ))}
      {flags.length > SHOWN && <span class="muted">and {flags.length - SHOWN} more</span>}
    </>
  );
}
