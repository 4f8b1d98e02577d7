"""Losses and distances: every reduction, class weights, ignored classes, smoothing, broadcast operands."""

from __future__ import annotations

# Arguments of the function; the options of the layer that has them.
_PAIRS: dict[str, tuple[tuple[str, str], ...]] = {
    "binary_cross_entropy BCELoss": (
        ("p01(3, 4), p01(3, 4)", ""),
        ("p01(4), p01(4)", "weight=pos(4), reduction='sum'"),
        ("t([0.0, 1.0]), t([1.0, 0.0])", "reduction='none'"),
    ),
    "binary_cross_entropy_with_logits BCEWithLogitsLoss": (
        ("f(3, 4), p01(3, 4)", ""),
        ("f(2, 4), p01(2, 4)", "pos_weight=pos(4), reduction='sum'"),
        ("bf(5), p01(5).bfloat16()", "reduction='none'"),
    ),
    "cosine_embedding_loss CosineEmbeddingLoss": (
        ("f(3, 4), f(3, 4), t([1, -1, 1])", ""),
        ("f(3, 4), f(3, 4), t([1, -1, 1])", "margin=0.3, reduction='sum'"),
        ("f(4), f(4), t(-1)", "reduction='none'"),
    ),
    "cross_entropy CrossEntropyLoss": (
        ("f(3, 4), t([0, -100, 3])", "label_smoothing=0.1"),
        ("f(2, 4, 3), idx(4, 2, 3)", "weight=pos(4), reduction='sum', ignore_index=1"),
        ("f(3, 4), p01(3, 4)", "reduction='none'"),
    ),
    "gaussian_nll_loss GaussianNLLLoss": (
        ("f(3, 4), f(3, 4), pos(3, 4)", ""),
        ("f(3, 4), f(3, 4), pos(3, 1)", "full=True, reduction='sum'"),
        ("f(3), f(3), t([0.0, 1.0, 2.0])", "eps=0.1, reduction='none'"),
    ),
    "hinge_embedding_loss HingeEmbeddingLoss": (
        ("f(3, 4), i32(3, 4).sign()", ""),
        ("f(4), f(4).sign()", "margin=0.3, reduction='sum'"),
        ("bf(5), bf(5).sign()", "reduction='none'"),
    ),
    "huber_loss HuberLoss": (("f(3, 4), f(3, 4)", "delta=0.5"), ("f(4), f(4)", "reduction='sum'"), ("bf(5), bf(5)", "reduction='none'")),
    "kl_div KLDivLoss": (
        ("f(3, 4), p01(3, 4)", "reduction='batchmean'"),
        ("f(4), f(4)", "log_target=True, reduction='sum'"),
        ("f(3), t([0.0, 0.5, 1.0])", "reduction='none'"),
    ),
    "l1_loss L1Loss": (("f(3, 4), f(3, 4)", ""), ("i32(4), i32(4)", "reduction='sum'"), ("bf(0, 5), bf(0, 5)", "reduction='none'")),
    "mse_loss MSELoss": (("f(3, 4), f(3, 4)", ""), ("d(4), d(4)", "reduction='sum'"), ("bf(0, 5), bf(0, 5)", "reduction='none'")),
    "margin_ranking_loss MarginRankingLoss": (
        ("f(3), f(3), f(3).sign()", ""),
        ("f(3), f(3), f(3).sign()", "margin=0.3, reduction='sum'"),
        ("bf(4), bf(4), bf(4).sign()", "reduction='none'"),
    ),
    "multilabel_margin_loss MultiLabelMarginLoss": (
        ("f(2, 4), t([[3, 0, -1, 1], [1, -1, 0, 2]])", ""),
        ("f(4), t([3, 0, -1, 1])", "reduction='sum'"),
        ("f(1, 3), t([[0, 1, 2]])", "reduction='none'"),
    ),
    "multilabel_soft_margin_loss MultiLabelSoftMarginLoss": (
        ("f(2, 4), p01(2, 4)", ""),
        ("f(2, 4), b(2, 4).float()", "weight=pos(4), reduction='sum'"),
        ("f(3, 2), p01(3, 2)", "reduction='none'"),
    ),
    "multi_margin_loss MultiMarginLoss": (
        ("f(3, 4), idx(4, 3)", ""),
        ("f(3, 4), idx(4, 3)", "p=2, margin=0.5, weight=pos(4), reduction='sum'"),
        ("f(4), idx(4)", "reduction='none'"),
    ),
    "nll_loss NLLLoss": (
        ("f(3, 4), t([0, -100, 3])", ""),
        ("f(2, 4, 3), idx(4, 2, 3)", "weight=pos(4), reduction='sum', ignore_index=1"),
        ("f(4), idx(4)", "reduction='none'"),
    ),
    "poisson_nll_loss PoissonNLLLoss": (
        ("f(3, 4), pos(3, 4)", ""),
        ("pos(4), pos(4)", "log_input=False, full=True, reduction='sum'"),
        ("f(3), t([0.0, 1.0, 5.0])", "full=True, reduction='none'"),
    ),
    "smooth_l1_loss SmoothL1Loss": (
        ("f(3, 4), f(3, 4)", "beta=0.5"),
        ("f(4), f(4)", "beta=0.0, reduction='sum'"),
        ("bf(5), bf(5)", "reduction='none'"),
    ),
    "soft_margin_loss SoftMarginLoss": (
        ("f(3, 4), f(3, 4).sign()", ""),
        ("f(4), f(4).sign()", "reduction='sum'"),
        ("bf(5), bf(5).sign()", "reduction='none'"),
    ),
    "triplet_margin_loss TripletMarginLoss": (
        ("f(3, 4), f(3, 4), f(3, 4)", ""),
        ("f(3, 4), f(3, 4), f(3, 4)", "margin=0.3, p=1.0, swap=True, reduction='sum'"),
        ("f(4), f(4), f(4)", "reduction='none'"),
    ),
    "triplet_margin_with_distance_loss TripletMarginWithDistanceLoss": (
        ("f(3, 4), f(3, 4), f(3, 4)", ""),
        ("f(3, 4), f(3, 4), f(3, 4)", "margin=0.3, swap=True, reduction='sum'"),
        ("f(2, 4), f(2, 4), f(2, 4)", "reduction='none'"),
    ),
    "ctc_loss CTCLoss": (
        ("f(6, 2, 4), idx(3, 2, 2) + 1, t([6, 5]), t([2, 1])", ""),
        ("f(6, 2, 4), idx(3, 2, 2) + 1, t([6, 5]), t([2, 1])", "blank=0, reduction='sum'"),
        ("f(6, 4), idx(3, 2) + 1, t([6]), t([2])", "reduction='none'"),
    ),
}

CASES: dict[str, tuple[str, ...]] = {
    "torch.hinge_embedding_loss": ("(f(3, 4), i32(3, 4).sign())", "(f(4), f(4).sign(), 0.3, 2)", "(bf(5), bf(5).sign(), 1.0, 0)"),
    "torch.margin_ranking_loss": ("(f(3), f(3), f(3).sign())", "(f(3), f(3), f(3).sign(), 0.3, 2)", "(bf(4), bf(4), bf(4).sign(), 0.0, 0)"),
    "torch.cosine_embedding_loss": (
        "(f(3, 4), f(3, 4), t([1, -1, 1]))",
        "(f(3, 4), f(3, 4), t([1, -1, 1]), 0.3, 2)",
        "(f(4), f(4), t(-1), 0.0, 0)",
    ),
    "torch.triplet_margin_loss": (
        "(f(3, 4), f(3, 4), f(3, 4))",
        "(f(3, 4), f(3, 4), f(3, 4), 0.3, 1.0, swap=True)",
        "(f(4), f(4), f(4), reduction=0)",
    ),
    "torch.binary_cross_entropy_with_logits": (
        "(f(3, 4), p01(3, 4))",
        "(f(2, 4), p01(2, 4), None, pos(4), 2)",
        "(bf(5), p01(5).bfloat16(), None, None, 0)",
    ),
    "torch.kl_div": ("(f(3, 4), p01(3, 4))", "(f(4), f(4), 2, log_target=True)", "(f(3), t([0.0, 0.5, 1.0]), 0)"),
    "torch.poisson_nll_loss": (
        "(f(3, 4), pos(3, 4), True, False, 1e-8, 1)",
        "(pos(4), pos(4), False, True, 1e-8, 2)",
        "(f(3), t([0.0, 1.0, 5.0]), True, True, 1e-8, 0)",
    ),
    "torch.ctc_loss": (
        "(f(6, 2, 4), idx(3, 2, 2) + 1, t([6, 5]), t([2, 1]))",
        "(f(6, 2, 4), idx(3, 2, 2) + 1, (6, 5), (2, 1))",
        "(f(6, 4), idx(3, 2) + 1, t(6), t(2), reduction=0)",
    ),
    "nn.CosineSimilarity": ("()(f(3, 5), f(3, 5))", "(-1)(f(3, 5), f(5))", "(0, 1e-3)(d(2, 3, 4), d(2, 1, 4))"),
    "F.cosine_similarity": ("(f(3, 5), f(3, 5))", "(f(3, 5), f(5), -1)", "(d(2, 3, 4), d(2, 1, 4), 0)"),
    "nn.PairwiseDistance": ("()(f(3, 5), f(3, 5))", "(1, keepdim=True)(f(3, 5), f(5))", "(math.inf)(d(4), d(4))"),
    "F.pairwise_distance": ("(f(3, 5), f(3, 5))", "(f(3, 5), f(5), 1, keepdim=True)", "(d(4), d(4), math.inf)"),
    "F.pdist": ("(f(4, 3))", "(f(4, 3), 1.0)", "(d(3, 2), math.inf)"),
    "nn.NLLLoss2d": (
        "()(f(2, 4, 3, 2), idx(4, 2, 3, 2))",
        "(reduction='sum')(f(2, 4, 3, 2), idx(4, 2, 3, 2))",
        "(ignore_index=1)(f(1, 4, 1, 2), idx(4, 1, 1, 2))",
    ),
    "nn.AdaptiveLogSoftmaxWithLoss": (
        "(6, 9, (2, 5))(f(4, 6), idx(9, 4))",
        "(6, 9, (3,), div_value=2.0)(f(4, 6), idx(9, 4))",
        "(6, 5, (2,), head_bias=True)(f(6), idx(5))",
    ),
    "nn.LinearCrossEntropyLoss": (
        "(4, 5)(f(3, 4), idx(5, 3))",
        "(4, 5, reduction='sum')(f(3, 4), idx(5, 3))",
        "(4, 2, bias=False)(f(1, 4), idx(2, 1))",
    ),
    "F.linear_cross_entropy": (
        "(f(3, 4), f(5, 4), idx(5, 3))",
        "(f(3, 4), f(5, 4), idx(5, 3), reduction='sum')",
        "(f(1, 4), f(2, 4), idx(2, 1))",
    ),
}
for names, settings in _PAIRS.items():
    function, layer = names.split()
    CASES[f"F.{function}"] = tuple(f"({args}, {options})" if options else f"({args})" for args, options in settings)
    CASES[f"nn.{layer}"] = tuple(f"({options})({args})" for args, options in settings)
