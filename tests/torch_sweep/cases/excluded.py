"""Public names that have no case, by the reason."""

from __future__ import annotations

NOT_APPLICABLE: dict[str, str] = {
    "a container, or the base of other layers": """
        nn.Container nn.Module nn.ModuleDict nn.ModuleList nn.ParameterDict nn.ParameterList nn.RNNBase nn.RNNCellBase""",
    "takes its shapes from its first call, and is then the layer without `Lazy`": """
        nn.LazyBatchNorm1d nn.LazyBatchNorm2d nn.LazyBatchNorm3d nn.LazyConv1d nn.LazyConv2d nn.LazyConv3d nn.LazyConvTranspose1d
        nn.LazyConvTranspose2d nn.LazyConvTranspose3d nn.LazyInstanceNorm1d nn.LazyInstanceNorm2d nn.LazyInstanceNorm3d nn.LazyLinear""",
    "copies a module to several devices": "nn.DataParallel",
    "its results are random": """
        F.gumbel_softmax torch.bernoulli torch.binomial torch.multinomial torch.normal torch.poisson torch.rand torch.rand_like
        torch.randint torch.randint_like torch.randn torch.randn_like torch.randperm torch.svd_lowrank torch.pca_lowrank""",
    "its result has no values yet": "torch.empty torch.empty_like torch.empty_permuted torch.empty_strided torch.empty_quantized",
    "its result is no tensor": """
        torch.allclose torch.equal torch.can_cast torch.broadcast_shapes torch.is_complex torch.is_conj torch.is_distributed
        torch.is_floating_point torch.is_inference torch.is_neg torch.is_nonzero torch.is_same_size torch.is_signed torch.is_storage
        torch.is_tensor torch.numel torch.promote_types torch.result_type torch.get_device torch.typename torch.cudnn_is_acceptable
        torch.to_dlpack torch.sym_float torch.sym_int torch.sym_ite torch.sym_max torch.sym_min torch.sym_not torch.sym_sqrt torch.sym_sum
        torch.sym_fresh_size torch.sym_constrain_range torch.sym_constrain_range_for_size""",
    "makes a tensor from memory or a file of the host": "torch.from_dlpack torch.from_file torch.from_numpy torch.frombuffer",
    "changes the size of its argument in place": "torch.resize_as_ torch.resize_as_sparse_",
    "takes functions: control flow, transformations, compilation": """
        torch.compile torch.cond torch.vmap torch.while_loop torch.fork torch.wait""",
    "about quantised tensors": """
        torch.choose_qparams_optimized torch.dequantize torch.fbgemm_linear_fp16_weight torch.fbgemm_linear_fp16_weight_fp32_activation
        torch.fbgemm_linear_int8_weight torch.fbgemm_linear_int8_weight_fp32_activation torch.fbgemm_linear_quantize_weight
        torch.fbgemm_pack_gemm_matrix_fp16 torch.fbgemm_pack_quantized_matrix torch.fused_moving_avg_obs_fake_quant torch.int_repr
        torch.q_per_channel_axis torch.q_per_channel_scales torch.q_per_channel_zero_points torch.q_scale torch.q_zero_point
        torch.quantize_per_channel torch.quantize_per_tensor torch.quantize_per_tensor_dynamic torch.quantized_batch_norm
        torch.quantized_gru torch.quantized_gru_cell torch.quantized_lstm torch.quantized_lstm_cell torch.quantized_max_pool1d
        torch.quantized_max_pool2d torch.quantized_max_pool3d torch.quantized_rnn_relu_cell torch.quantized_rnn_tanh_cell""",
    "about sparse tensors": """
        torch.ccol_indices_copy torch.col_indices_copy torch.crow_indices_copy torch.dsmm torch.hsmm torch.hspmm torch.indices_copy
        torch.row_indices_copy torch.saddmm torch.smm torch.sparse_bsc_tensor torch.sparse_bsr_tensor torch.sparse_compressed_tensor
        torch.sparse_coo_tensor torch.sparse_csc_tensor torch.sparse_csr_tensor torch.spmm torch.sspaddmm torch.values_copy""",
    "one device's own: cuDNN, MIOpen, oneDNN, CUDA's batch norm, 8-bit products of a GPU": """
        torch.cudnn_affine_grid_generator torch.cudnn_batch_norm torch.cudnn_convolution torch.cudnn_convolution_add_relu
        torch.cudnn_convolution_relu torch.cudnn_convolution_transpose torch.cudnn_grid_sampler torch.miopen_batch_norm
        torch.miopen_convolution torch.miopen_convolution_add_relu torch.miopen_convolution_relu torch.miopen_convolution_transpose
        torch.miopen_ctc_loss torch.miopen_depthwise_convolution torch.miopen_rnn torch.mkldnn_adaptive_avg_pool2d torch.mkldnn_convolution
        torch.mkldnn_linear_backward_weights torch.mkldnn_max_pool2d torch.mkldnn_max_pool3d torch.mkldnn_rnn_layer torch.native_norm
        torch.batch_norm_backward_elemt torch.batch_norm_backward_reduce torch.batch_norm_elemt torch.batch_norm_gather_stats
        torch.batch_norm_gather_stats_with_counts torch.batch_norm_stats torch.batch_norm_update_stats F.scaled_mm F.scaled_grouped_mm""",
    "removed from torch: it raises": "torch.eig torch.lstsq torch.matrix_rank torch.solve torch.symeig",
    "changes a table of embeddings in place": "torch.embedding_renorm_",
    "no function on tensors: settings, files, tracing, types": """
        F.Optional F.assert_int_or_pair F.boolean_dispatch F.handle_torch_function F.has_torch_function F.has_torch_function_unary
        F.has_torch_function_variadic torch.are_deterministic_algorithms_enabled torch.autocast_decrement_nesting
        torch.autocast_increment_nesting torch.classproperty torch.clear_autocast_cache torch.compiled_with_cxx11_abi
        torch.get_autocast_cpu_dtype torch.get_autocast_dtype torch.get_autocast_gpu_dtype torch.get_autocast_ipu_dtype
        torch.get_autocast_xla_dtype torch.get_default_device torch.get_default_dtype torch.get_deterministic_debug_mode
        torch.get_device_module torch.get_file_path torch.get_float32_matmul_precision torch.get_num_interop_threads torch.get_num_threads
        torch.get_rng_state torch.import_ir_module torch.import_ir_module_from_buffer torch.init_num_threads torch.initial_seed
        torch.is_anomaly_check_nan_enabled torch.is_anomaly_enabled torch.is_autocast_cache_enabled torch.is_autocast_cpu_enabled
        torch.is_autocast_enabled torch.is_autocast_ipu_enabled torch.is_autocast_xla_enabled
        torch.is_deterministic_algorithms_warn_only_enabled torch.is_grad_enabled torch.is_inference_mode_enabled torch.is_vulkan_available
        torch.is_warn_always_enabled torch.load torch.manual_seed torch.merge_type_from_type_comment torch.parse_ir torch.parse_schema
        torch.parse_type_comment torch.prepare_multiprocessing_environment torch.profiler_allow_cudagraph_cupti_lazy_reinit_cuda12
        torch.save torch.seed torch.set_anomaly_enabled torch.set_autocast_cache_enabled torch.set_autocast_cpu_dtype
        torch.set_autocast_cpu_enabled torch.set_autocast_dtype torch.set_autocast_enabled torch.set_autocast_gpu_dtype
        torch.set_autocast_ipu_dtype torch.set_autocast_ipu_enabled torch.set_autocast_xla_dtype torch.set_autocast_xla_enabled
        torch.set_default_device torch.set_default_dtype torch.set_default_tensor_type torch.set_deterministic_debug_mode
        torch.set_float32_matmul_precision torch.set_flush_denormal torch.set_num_interop_threads torch.set_num_threads
        torch.set_printoptions torch.set_rng_state torch.set_warn_always torch.thread_safe_generator torch.unify_type_list
        torch.use_deterministic_algorithms""",
}
