"""The codes of `hloom.decisions`, each with its verdict and its meaning, as docs/fusion.md lists them."""

from __future__ import annotations

from enum import Enum


class DecisionCode(Enum):
    """A code: its name in records, its verdict (fused, declined, note) and its meaning. A fusion rule's file may hold codes of its own."""

    def __init__(self, verdict: str, meaning: str):
        self.verdict, self.meaning = verdict, meaning


class Code(DecisionCode):
    """What the planner and split-groups tell."""

    FREE_CLONED = "note", "views and scalars that every group clones for itself"
    FUSED_VERTICAL = "fused", "the value between the two is never written"
    FUSED_MULTI_OUTPUT = "fused", "the value between the two is written, and used at once"
    FUSED_SIBLING = "fused", "two readers of one value"
    FUSED_DUPLICATED = "fused", "a cheap producer evaluated in each consumer"
    FUSED_DEMAND = "fused", "evaluated only at gathered elements"
    FUSED_MULTI_REDUCE = "fused", "a row stays in the tile between its reduction and its use"
    FUSED_EPILOGUE = "fused", "applied to a contraction's tile"
    FUSED_ATTENTION = (
        "fused",
        "of join-contractions: two contractions and the rows between them, which stay in the tile; of recompute-operands: contractions"
        " that compute what they sum over, tile by tile",
    )
    FUSED_ROWS = (
        "fused",
        "of join-row-blocks: contractions that keep and that sum over rows, which are there block by block",
    )
    FUSED_PHASES = "fused", "of join-phases: the phases of a transposed convolution, which stay in the tile that puts them in turn"
    FUSED_REPEATED = "fused", "of repeat-reductions: a small reduction that every tile of those that read it computes for itself"
    FUSED_LOOP = "fused", "of fuse-loops: a loop is one kernel, its carries scalars of each element"
    LOOP_HOISTED = "fused", "of hoist-products: what the turns of a loop multiply row by row is one product before it"
    LOOP_ALTERNATES = "fused", "of assign-buffers: two turns are one, so that carries alternate between two buffers and are not copied"
    FUSED_HORIZONTAL = "fused", "of join-launches: independent kernels of one launch"
    FUSED_GRID = "fused", "of join-chains: kernels that follow each other in one launch, with a barrier of all blocks between"
    REMATERIALISED = (
        "note",
        "of rematerialise: a value that waits for a late reader is made again for it, for a policy's limit",
    )
    KERNEL_CHOSEN = "note", "gemm, conv or generated, with both prices, or why no library takes it"
    TILE_CHOSEN = "note", "of distribute-contractions: the blocks of a product on a GPU, by an estimate of their time, and what bounds it"
    POLICY_FORCED = "note", "a rule of the policy asks for a library, and gets it"
    POLICY_FORBIDDEN = "note", "a rule of the policy asks for a generated kernel, or for one of its own, or keeps two kernels apart"
    POLICY_UNMET = "note", "a rule asks for what cannot be; without ops: the rule decides nothing"
    NO_GAIN = "declined", "legal, not faster"
    RECOMPUTE_TOO_HIGH = "declined", "evaluating it again costs more than it saves; or a reduction is needed at several indices"
    INSTANCE_LIMIT = "declined", "the kernel would grow beyond `max-instances`, or beyond four instances an op"
    CYCLE = "declined", "another path joins the two groups"
    CYCLE_BUDGET = "declined", "whether another path joins the two groups cannot be told within the search's bound"
    AXIS_CONFLICT = (
        "declined",
        "other axes than those that were reduced; a column has no row to keep on a GPU; two contractions; a window and a reduction",
    )
    GLOBAL_DEP = "declined", "every tile would need all of a reduction, or of a contraction's row"
    ROW_TOO_LARGE = "declined", "a row, or 64 columns, do not stay in the L2 cache"
    NOT_TILEABLE = (
        "declined",
        "a contraction's operand; a value of others that is not produced whole; an index that does not follow the tiles; what is chosen by "
        "its place, on a CPU, in a loop whose lanes lie across its own; a row that a scan would read in pieces, on a CPU",
    )
    ALONE = "declined", "a sort shares its kernel with no other op, a scatter with none but what computes its updates"
    ARG_LIMIT = "declined", "a launch would have more kernels, or buffers, than one takes"
    OCCUPANCY = "declined", "a kernel's blocks would find less room on a multiprocessor among those of others, or are of another size"
    PEAK_MEMORY = "declined", "more bytes would be live at once than in the program's order, or than a policy's limit"
    INPLACE_HAZARD = "declined", "a buffer that dynamic_update_slice may overwrite would be read at another index too"
    LOOP_CROSS_TILE = "declined", "of fuse-loops: in the next turn an element needs others' carries"
    LOOP_ALIAS = "declined", "of fuse-loops: a carry is read while parts of it are overwritten"
    LOOP_COND = "declined", "of fuse-loops: whether the loop goes on needs values of all tiles"
    LOOP_BODY = "declined", "of fuse-loops: an op in it is no code of one element, or takes more registers than a thread has"
    SPLIT = (
        "note",
        "of split-groups, split-contractions and split-k (stage tiled): a value that no tile can hold, a contraction that no kernel takes"
        " with its neighbours, or the parts of a long sum, got a buffer in the arena, and the group became two",
    )
