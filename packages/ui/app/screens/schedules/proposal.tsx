import { useResource } from '../../api/resource.js';
import { ProposalList } from '../../parts/approval/proposal-list.js';
import { ScreenFrame } from '../../parts/frame/screen.js';

/** The screen of one proposal. */
export function ProposalScreen({ id }: { readonly id: string }) {
  const reply = useResource('getProposal', { params: { proposal: id } });
  const title = reply.data ? `Proposal of ${reply.data.author.name}` : 'Proposal';
  return (
    <ScreenFrame back={{ to: ['schedules'], label: 'Schedules' }} title={title} reply={reply}>
      {(proposal) => (
        <div class="card">
          <ProposalList proposals={[proposal]} isOpen />
        </div>
      )}
    </ScreenFrame>
  );
}
