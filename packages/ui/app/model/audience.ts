import type { ListedFlag } from '../api/types.js';

type Audience = ListedFlag['environments'][number]['audience'];

/** Whether nobody gets a flag that is on: 0 %, or all strategies are disabled. Without strategies everybody gets it. */
export function isForNobody(audience: Audience): boolean {
  return audience.length > 0 && audience.every(({ rollout }) => rollout === 0);
}
