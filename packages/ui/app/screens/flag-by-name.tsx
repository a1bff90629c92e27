import { useResource } from '../api/resource.js';
import { Heading } from '../parts/heading.js';
import { Fault, Loading } from '../parts/states.js';
import { FlagScreen } from './flag.js';

/** Finds a flag by its name alone: reports of applications do not name its project. */
export function FlagByName({ flag }: { readonly flag: string }) {
  const { data, error } = useResource('listAllFlags', { query: { namePrefix: flag, limit: 1 } });
  const found = data?.features.find(({ name }) => name === flag);
  if (found) return <FlagScreen project={found.project} flag={flag} />;
  if (!data && !error) return <Loading />;
  return (
    <section class="narrow">
      <Heading title={flag} />
      {error ? (
        <Fault error={error} />
      ) : (
        <p>The projects that you may see have no flag of this name. It is archived, deleted, or was never created.</p>
      )}
    </section>
  );
}
