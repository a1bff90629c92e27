/** The approval that changes of a protected environment need. */
export interface EnvironmentApproval {
  /** How many people must approve. */
  readonly required: number;
}

/** The environments whose changes need approval. */
export interface ApprovalPolicy {
  /** By the name of the environment, also for environments that the options of this node lack. */
  readonly environments: Readonly<Record<string, EnvironmentApproval>>;
}

/** The approval policy, as an engine with its own environments knows it. */
export interface KnownApprovalPolicy extends ApprovalPolicy {
  /** The names that are not environments of this engine. Another process may have them; else they are misspelt. */
  readonly unknownEnvironments: readonly string[];
}

/** The id of the only policy. */
export const APPROVAL_POLICY = 'approval-policy';

export const EMPTY_POLICY: ApprovalPolicy = { environments: {} };

export function toKnownPolicy(
  policy: ApprovalPolicy,
  environments: readonly { readonly name: string }[],
): KnownApprovalPolicy {
  const isKnown = (name: string) => environments.some((one) => one.name === name);
  return {
    environments: policy.environments,
    unknownEnvironments: protectedEnvironments(policy).filter((name) => !isKnown(name)),
  };
}

/** Returns the names of the protected environments. */
export function protectedEnvironments({ environments }: ApprovalPolicy): readonly string[] {
  return Object.keys(environments);
}

/** Returns the environments that a new policy protects less, with the approvals that they needed before. */
export function loweredEnvironments(before: ApprovalPolicy, after: ApprovalPolicy): ApprovalPolicy['environments'] {
  const lowered = Object.entries(before.environments).filter(([name, { required }]) => {
    const kept = Object.hasOwn(after.environments, name) ? after.environments[name] : undefined;
    return (kept?.required ?? 0) < required;
  });
  return Object.fromEntries(lowered);
}
