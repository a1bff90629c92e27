import type { FlagDetail, ListedFlag } from '../../api/types.js';
import { agingOf } from '../../model/aging.js';
import { session } from '../../state/session.js';

interface AgingTagsProps {
  readonly flag: ListedFlag | FlagDetail;
  /** Whether only the tooltip shows the reasons. */
  readonly isShort?: boolean;
}

/** Says why a flag may be due for removal. */
export function AgingTags({ flag, isShort = false }: AgingTagsProps) {
  if (flag.archived) return null;
  return agingOf(flag, session.value?.types ?? []).map((words) => (
    <span key={words} class="tag warning" title={words}>
      {isShort ? words.split(':')[0] : words}
    </span>
  ));
}
