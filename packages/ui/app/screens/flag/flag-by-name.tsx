import { useResource } from '../../api/resource.js';
import { Heading } from '../../parts/frame/heading.js';
import { ScreenFrame } from '../../parts/frame/screen.js';
import { Missing } from '../../parts/frame/states.js';
import { currentProject } from '../../router.js';
import { FlagScreen } from './flag.js';

/** Finds a flag by its name alone: reports of applications do not name its project. */
export function FlagByName({ flag }: { readonly flag: string }) {
  const reply = useResource('listAllFlags', { query: { namePrefix: flag, limit: 1 } });
  const found = reply.data?.features.find(({ name }) => name === flag);
  if (found) return <FlagScreen project={found.project} flag={flag} />;
  return (
    <ScreenFrame
      back={{ to: ['projects', currentProject()], label: 'Flags' }}
      reply={reply}
      missing={() => <Heading title={flag} />}
    >
      {() => (
        <Missing title={flag}>
          The projects that you may see have no flag of this name. It is archived, deleted, or was never created.
        </Missing>
      )}
    </ScreenFrame>
  );
}
