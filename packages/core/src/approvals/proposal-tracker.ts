import { LIMITS } from '../base/limits.js';
import type { ProposalTracker, SharedEngine } from '../changesets/engine.js';
import { DAY, pruneEnded } from '../schedules/due.js';
import { write } from './decisions.operations.js';
import * as rules from './proposal.decide.js';
import { ENDED, OPEN, proposalDocuments } from './proposal.kind.js';
import { findProposal, listProposalSummaries } from './proposals.operations.js';

interface TrackerOptions {
  /** Called after the construction: the engine contains its tracker. */
  readonly engineOf: () => SharedEngine;
  /** The actor of what nobody asked for: that a proposal lapses. */
  readonly actor: string;
}

/** Creates the part of the engine that keeps proposals in step with their schedules and with the time. */
export function createProposalTracker({ engineOf, actor }: TrackerOptions): ProposalTracker {
  let prunesAt = Number.NEGATIVE_INFINITY;

  /** Ends a proposal whose time has passed. Another process may have done so. */
  async function lapse(id: string): Promise<void> {
    const { writer, now } = engineOf();
    await writer.run([], {
      actor,
      origin: `${proposalDocuments.kind}/${id}`,
      async conclude(unit) {
        const { state } = await findProposal(unit.read, id);
        const decided = rules.lapse(state, now());
        if (decided) await write(unit, decided);
      },
    });
  }

  /** Deletes proposals that ended long ago, once a day. Their events remain. */
  async function prune(now: number): Promise<void> {
    if (now < prunesAt) return;
    prunesAt = now + DAY;
    const ended = listProposalSummaries(engineOf(), ENDED);
    await pruneEnded(engineOf(), { documents: proposalDocuments, ended, before: now - LIMITS.proposalRetention });
  }

  return {
    async approvalOf(unit, proposal) {
      const { state } = await findProposal(unit.read, proposal);
      rules.assertNotEnded(state, engineOf().now());
      return rules.approvalOf(state);
    },
    async follow(unit, proposal, end) {
      const { state } = await findProposal(unit.read, proposal);
      if (state.state === 'scheduled') await write(unit, rules.afterSchedule(state, end));
    },
    async run() {
      const now = engineOf().now();
      const passed: string[] = [];
      for await (const { summary } of listProposalSummaries(engineOf(), OPEN)) {
        if (rules.isOverdue(summary, now)) passed.push(summary.id);
      }
      for (const id of passed) await lapse(id);
      await prune(now.getTime());
    },
  };
}
