import type { Rollout } from '../../api/types.js';
import { Link } from '../control/controls.js';
import { RolloutDetails } from './rollout-details.js';

/** A rollout in a list of what happens next. */
export function RolloutEntry({ rollout }: { readonly rollout: Rollout }) {
  const { ref } = rollout;
  const { project, flag, environment } = ref;
  return (
    <li>
      <RolloutDetails place={ref} rollout={rollout}>
        <Link class="title" to={['projects', project, 'flags', flag]}>
          {`Rollout of ${flag} in ${environment}`}
        </Link>
      </RolloutDetails>
    </li>
  );
}
