import { onEveryStorage } from '../on-every-storage.js';
import { expectRefusal } from '../refusal.js';

const POLICY = { environments: { production: { required: 1 } } };

onEveryStorage((start, share) => {
  describe('the approval policy', () => {
    it('is empty in a new store, and is replaced as a whole', async () => {
      const flags = await start();
      expect(await flags.approvalPolicy.get()).toEqual({ environments: {}, unknownEnvironments: [] });
      expect(await flags.approvalPolicy.set(POLICY)).toEqual({ ...POLICY, unknownEnvironments: [] });
      const both = { environments: { production: { required: 1 }, staging: { required: 2 } } };
      // Another node may have the environment.
      const known = { ...both, unknownEnvironments: ['staging'] };
      expect(await flags.approvalPolicy.set(both)).toEqual(known);
      expect(await flags.approvalPolicy.get()).toEqual(known);
    });

    it('has an event with the policies before and after, and none if it stays the same', async () => {
      const flags = await start();
      await flags.as('ada').approvalPolicy.set(POLICY, { reason: 'Audit' });
      await flags.approvalPolicy.set(POLICY);
      const { items: events } = await flags.events.list({ type: 'approval-policy-updated' });
      expect(events).toMatchObject([
        { actor: 'ada', reason: 'Audit', project: null, data: POLICY, before: { environments: {} } },
      ]);
    });

    it('is refused if it names no environment in the right form, or a wrong number', async () => {
      const flags = await start();
      for (const environments of [undefined, [], { '': { required: 1 } }, { a: {} }, { a: { required: 0 } }]) {
        await expectRefusal(flags, 'invalid_input', () => flags.approvalPolicy.set({ environments } as never));
      }
    });

    it('cannot be undone', async () => {
      const flags = await start();
      await flags.approvalPolicy.set(POLICY);
      const { items: events } = await flags.events.list({ type: 'approval-policy-updated' });
      const changeSet = events[0]?.changeSet ?? '';
      await expectRefusal(flags, 'undo_conflict', () => flags.history.undo({ changeSet }));
    });

    it('reaches the other nodes, and stays when they open the store again', async () => {
      const node = await share();
      const [one, other] = [await node(), await node()];
      await one.approvalPolicy.set(POLICY);
      expect(await other.approvalPolicy.get()).toMatchObject(POLICY);
      expect(await (await node()).approvalPolicy.get()).toMatchObject(POLICY);
    });
  });
});
