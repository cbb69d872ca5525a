# SPDX-License-Identifier: MIT
"""The names of PyTorch that AutoCalc does not have on purpose, by the reason."""

from __future__ import annotations

from typing import NamedTuple


class Group(NamedTuple):
    """Names that are absent for one reason."""

    title: str
    reason: str
    #: What to use in their place, if the name has no advice of its own.
    instead: str
    #: Place -> names.
    names: dict[str, str]


GROUPS = (
    Group(
        "other complex dtypes",
        "complex numbers are complex64 and complex128, and conjugates are computed at "
        "once",
        "use complex64",
        {
            "autocalc": """
                ComplexDoubleStorage ComplexFloatStorage ComplexType chalf complex32
                eig view_as_complex_copy view_as_real_copy
            """,
            "autocalc.Tensor": "chalf eig",
        },
    ),
    Group(
        "further sparse layouts, and masked tensors",
        "sparse tensors have the layouts COO, CSR and CSC, and no others",
        "use one of these layouts",
        {
            "autocalc": """
                ccol_indices_copy col_indices_copy crow_indices_copy
                hsmm hspmm indices_copy masked
                resize_as_sparse_ row_indices_copy saddmm
                sparse_bsc sparse_bsc_tensor sparse_bsr
                sparse_bsr_tensor sspaddmm
                values_copy
            """,
            "autocalc.Tensor": """
                resize_as_sparse_
                sparse_resize_ sparse_resize_and_clear_ sspaddmm
                to_mkldnn
                to_sparse_bsc to_sparse_bsr
            """,
            "autocalc.nn.functional": "sparse_support_notes",
            "autocalc.autograd": "enforce_grad_layout_policy",
        },
    ),
    Group(
        "quantised tensors",
        "there are no quantised tensors",
        "`autocalc.quantize` stores the weights of a model in 8 or 4 bits",
        {
            "autocalc": """
                QInt32Storage QInt8Storage QUInt2x4Storage
                QUInt4x2Storage QUInt8Storage ao
                choose_qparams_optimized dequantize empty_quantized
                fake_quantize_per_channel_affine
                fake_quantize_per_tensor_affine
                fbgemm_linear_fp16_weight
                fbgemm_linear_fp16_weight_fp32_activation
                fbgemm_linear_int8_weight
                fbgemm_linear_int8_weight_fp32_activation
                fbgemm_linear_quantize_weight
                fbgemm_pack_gemm_matrix_fp16
                fbgemm_pack_quantized_matrix
                fused_moving_avg_obs_fake_quant int_repr
                per_channel_affine per_channel_affine_float_qparams
                per_channel_symmetric per_tensor_affine
                per_tensor_symmetric q_per_channel_axis
                q_per_channel_scales q_per_channel_zero_points q_scale
                q_zero_point qint32 qint8 qscheme quantization
                quantize_per_channel quantize_per_tensor
                quantize_per_tensor_dynamic quantized_batch_norm
                quantized_gru quantized_gru_cell quantized_lstm
                quantized_lstm_cell quantized_max_pool1d
                quantized_max_pool2d quantized_max_pool3d
                quantized_rnn_relu_cell quantized_rnn_tanh_cell quint2x4
                quint4x2 quint8
            """,
            "autocalc.Tensor": """
                dequantize int_repr q_per_channel_axis
                q_per_channel_scales q_per_channel_zero_points q_scale
                q_zero_point qscheme
            """,
            "autocalc.nn": "intrinsic qat quantizable quantized",
            "autocalc.nn.functional": """
                ScalingType SwizzleType scaled_grouped_mm scaled_mm
            """,
        },
    ),
    Group(
        "dtypes with few bits",
        "no kernel supports this dtype",
        "use float16, bfloat16, int8, uint8 or a wider one",
        {
            "autocalc": """
                bit bits16 bits1x8 bits2x4 bits4x2 bits8
                float4_e2m1fn_x2 float8_e4m3fn float8_e4m3fnuz
                float8_e5m2 float8_e5m2fnuz float8_e8m0fnu int1 int2
                int3 int4 int5 int6 int7 uint1 uint2 uint3 uint4 uint5 uint6
                uint7
            """
        },
    ),
    Group(
        "transforms of functions",
        "AutoCalc runs control flow in Python, and tensors inside a transform have no "
        "other form to look at",
        "use Python's `if` and `while`, or `ac.where` inside `ac.vmap`",
        {
            "autocalc": "cond while_loop",
            "autocalc.func": """
                debug_unwrap
            """,
        },
    ),
    Group(
        "functions of single devices",
        "the streams and libraries of a device belong to its kernel package",
        "leave the call out",
        {
            "autocalc": """
                AcceleratorError DeviceObjType Event OutOfMemoryError
                Stream StreamObjType cudnn_affine_grid_generator
                cudnn_batch_norm cudnn_convolution
                cudnn_convolution_add_relu cudnn_convolution_relu
                cudnn_convolution_transpose cudnn_grid_sampler
                cudnn_is_acceptable get_autocast_gpu_dtype
                get_autocast_ipu_dtype get_autocast_xla_dtype
                get_device_module is_autocast_ipu_enabled
                is_autocast_xla_enabled is_distributed
                is_vulkan_available miopen_batch_norm miopen_convolution
                miopen_convolution_add_relu miopen_convolution_relu
                miopen_convolution_transpose miopen_ctc_loss
                miopen_depthwise_convolution miopen_rnn
                mkldnn_adaptive_avg_pool2d mkldnn_convolution
                mkldnn_linear_backward_weights mkldnn_max_pool2d
                mkldnn_max_pool3d mkldnn_rnn_layer mps mtia
                profiler_allow_cudagraph_cupti_lazy_reinit_cuda12
                set_autocast_gpu_dtype set_autocast_ipu_dtype
                set_autocast_ipu_enabled set_autocast_xla_dtype
                set_autocast_xla_enabled xpu
            """,
            "autocalc.Tensor": """
                ipu is_distributed is_ipu is_maia is_mtia is_vulkan
                is_xla mtia record_stream xpu
            """,
        },
    ),
    Group(
        "switches of autocast",
        "only the context manager `autocast` sets the precision",
        'use `with ac.autocast("cpu"):`',
        {
            "autocalc": """
                autocast_decrement_nesting autocast_increment_nesting
                clear_autocast_cache
                is_autocast_cache_enabled
                set_autocast_cache_enabled set_autocast_cpu_dtype
                set_autocast_cpu_enabled set_autocast_dtype
                set_autocast_enabled
            """
        },
    ),
    Group(
        "storages",
        "there is no such class of storages; the memory of a tensor is an array",
        "use `as_strided`, `numpy()`, `from_numpy` or `copy_`",
        {
            "autocalc": """
                Storage StorageBase
                as_strided_ from_file is_storage resize_as_
            """,
            "autocalc.Tensor": """
                as_strided_ const_data_ptr dim_order storage_type
            """,
        },
    ),
    Group(
        "scripts, traces and compiled programs",
        "AutoCalc has no TorchScript: a program runs as it is written",
        "call the function or the module itself; ac.compile replays a step without "
        "the interpreter, and ac.onnx.export writes a model for other programs",
        {
            "autocalc": """
                AVG AggregationType AliasDb AnyType Argument
                ArgumentSpec AwaitType Block BoolType BufferDict
                CallStack Capsule ClassType Code CompilationUnit
                CompleteArgumentSpec ConcreteModuleType
                ConcreteModuleTypeBuilder DeepCopyMemoTable
                DeserializationStorageContext DictType EnumType
                ErrorReport ExecutionPlan FileCheck FloatType
                FunctionSchema Future FutureType Gradient Graph
                GraphExecutorState IODescriptor InferredType IntType
                InterfaceType JITException ListType LiteScriptModule
                ModuleDict Node NoneType NumberType OperatorInfo
                OptionalType ParameterDict PyObjectType
                PyTorchFileReader PyTorchFileWriter RRefType SUM
                ScriptClass ScriptClassFunction ScriptDict
                ScriptDictIterator ScriptDictKeyIterator ScriptFunction
                ScriptList ScriptListIterator ScriptMethod ScriptModule
                ScriptModuleSerializer ScriptObject ScriptObjectProperty
                SerializationStorageContext StaticModule StringType
                SymBool SymBoolType SymFloat SymInt SymIntType
                TensorType TracingState TupleType Type UnionType Use
                Value export fork fx hub import_ir_module
                import_ir_module_from_buffer jit
                merge_type_from_type_comment package parse_ir
                parse_schema parse_type_comment sym_constrain_range
                sym_constrain_range_for_size sym_float sym_fresh_size
                sym_int sym_ite sym_max sym_min sym_not sym_sqrt sym_sum
                unify_type_list wait
            """,
            "autocalc.nn.functional": """
                BroadcastingList1 BroadcastingList2 BroadcastingList3
                assert_int_or_pair boolean_dispatch
            """,
        },
    ),
    Group(
        "internals of PyTorch",
        "it is an internal part of PyTorch",
        "",
        {
            "autocalc": """
                BenchmarkConfig BenchmarkExecutionStats
                DisableTorchFunction DisableTorchFunctionSubclass
                DispatchKey DispatchKeySet ExcludeDispatchKeyGuard
                FatalError GradScaler LockingLogger LoggerBase
                NoopLogger PRIVATE_OPS Tag ThroughputBenchmark
                USE_GLOBAL_DEPS USE_RTLD_GLOBAL_WITH_LIBTORCH
                affine_grid_generator
                alpha_dropout_ feature_alpha_dropout_ batch_norm_backward_elemt
                batch_norm_backward_reduce batch_norm_elemt
                batch_norm_gather_stats
                batch_norm_gather_stats_with_counts batch_norm_stats
                batch_norm_update_stats classproperty
                compiled_with_cxx11_abi constant_pad_nd conv_tbc
                convolution dropout_ embedding_renorm_ feature_dropout
                feature_dropout_ get_device
                get_file_path grid_sampler grid_sampler_2d
                grid_sampler_3d gru gru_cell has_lapack has_mkl
                has_openmp has_spectral hash_tensor init_num_threads
                is_warn_always_enabled
                legacy_contiguous_format lstm lstm_cell
                max_pool1d_with_indices native_batch_norm
                native_channel_shuffle native_dropout native_group_norm
                native_layer_norm native_norm nonzero_static
                norm_except_dim prepare_multiprocessing_environment
                range rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell
                set_flush_denormal set_warn_always slice_inverse
                thread_safe_generator
            """,
            "autocalc.Tensor": """
                apply_ grad_dtype hash_tensor index map2_ map_
                module_load name nonzero_static output_nr reinforce
                slice_inverse
            """,
            "autocalc.nn": "common_types factory_kwargs",
            "autocalc.nn.functional": """
                GRID_SAMPLE_INTERPOLATION_MODES
                GRID_SAMPLE_PADDING_MODES
                adaptive_max_pool1d_with_indices
                adaptive_max_pool2d_with_indices
                adaptive_max_pool3d_with_indices conv_tbc
                fractional_max_pool2d_with_indices
                fractional_max_pool3d_with_indices
                handle_torch_function has_torch_function
                has_torch_function_unary has_torch_function_variadic
                max_pool1d_with_indices max_pool2d_with_indices
                max_pool3d_with_indices native_channel_shuffle
                reproducibility_notes tf32_notes
            """,
            "autocalc.nn.utils": """
                convert_conv2d_weight_memory_format
                convert_conv3d_weight_memory_format
            """,
            "autocalc.utils.checkpoint": """
                CheckpointPolicy create_selective_checkpoint_contexts
            """,
            "autocalc.optim": "swap_in_optimizer_params_and_state",
            "autocalc.linalg": "common_notes",
            "autocalc.data": "argument_validation",
            "autocalc.utils.data.dataloader": """
                _BaseDataLoaderIter _InfiniteConstantSampler
                _MultiProcessingDataLoaderIter
            """,
            "autocalc.amp.autocast_mode": "_cast",
            "autocalc.amp.grad_scaler": "OptState",
            "autocalc.autograd": "NestedIOFunction variable",
        },
    ),
    Group(
        "imports of PyTorch's modules",
        "a module of PyTorch imports this name but does not define it",
        "import it from the module that defines it",
        {
            "autocalc": "TYPE_CHECKING",
            "autocalc.nn.functional": """
                Callable DType Optional TYPE_CHECKING Tensor dataclasses
                importlib math np torch warnings
            """,
        },
    ),
    Group(
        "old names",
        "it is an old name, and PyTorch has a newer one",
        "",
        {
            "autocalc": """
                frobenius_norm geqrf lobpcg
                nuclear_norm orgqr ormqr to_dlpack
            """,
            "autocalc.Tensor": """
                geqrf orgqr ormqr
                resize resize_as volatile
            """,
            "autocalc.nn": "Container CrossMapLRN2d NLLLoss2d",
        },
    ),
    Group(
        "names that PyTorch has removed",
        "This function was deprecated since version 1.9 and is now removed, in PyTorch "
        "too",
        "",
        {
            "autocalc": "lstsq matrix_rank solve symeig",
            "autocalc.Tensor": "lstsq solve symeig",
        },
    ),
    Group(
        "special functions without gradients",
        "PyTorch has no gradient for it, so no layer or loss can use it",
        "compute it from `x.numpy()`, for example with SciPy",
        {
            "autocalc.special": """
                airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1
                chebyshev_polynomial_t chebyshev_polynomial_u
                chebyshev_polynomial_v chebyshev_polynomial_w
                hermite_polynomial_h hermite_polynomial_he
                laguerre_polynomial_l legendre_polynomial_p
                modified_bessel_i0 modified_bessel_i1
                modified_bessel_k0 modified_bessel_k1
                scaled_modified_bessel_k0 scaled_modified_bessel_k1
                shifted_chebyshev_polynomial_t
                shifted_chebyshev_polynomial_u
                shifted_chebyshev_polynomial_v
                shifted_chebyshev_polynomial_w spherical_bessel_j0
            """
        },
    ),
    Group(
        "data pipes",
        "there are no data pipes",
        "use a `Dataset` or an `IterableDataset`, and transforms",
        {
            "autocalc.data": """
                DFIterDataPipe DataChunk IterDataPipe MapDataPipe
                functional_datapipe guaranteed_datapipes_determinism
                non_deterministic runtime_validation
                runtime_validation_disabled
            """
        },
    ),
    Group(
        "functions of one GPU",
        "the streams, graphs and counters of a GPU belong to its kernel package",
        "leave the call out where torch.cuda.is_available() is False",
        {
            "autocalc.cuda": """
                CUDAGraph ExternalStream FloatTensor DoubleTensor HalfTensor
                BFloat16Tensor LongTensor IntTensor ByteTensor BoolTensor
                OutOfMemoryError Stream StreamContext current_stream default_stream
                device device_of get_arch_list get_device_capability get_device_name
                get_device_properties graph ipc_collect is_current_stream_capturing
                nvtx random set_stream sparse stream utilization
            """,
            "autocalc.accelerator": "current_device_index set_device_index",
            "autocalc.backends.cuda": """
                SDPAParams can_use_efficient_attention can_use_flash_attention
                preferred_linalg_library
            """,
            "autocalc.backends.mps": "is_macos_or_newer",
        },
    ),
    Group(
        "PyTorch's profiler",
        "AutoCalc has its own profiler, which measures kernels on a CPU",
        "ac.profiler.profile",
        {
            "autocalc.profiler": """
                ProfilerAction schedule tensorboard_trace_handler
            """
        },
    ),
    Group(
        "PyTorch's ONNX exporter",
        "AutoCalc exports models from their kernel calls, with current ONNX operators",
        "ac.onnx.export",
        {
            "autocalc.onnx": """
                ExportOptions ONNXProgram OperatorExportTypes TrainingMode
                dynamo_export register_custom_op_symbolic symbolic_helper
                symbolic_opset9 symbolic_opset12 unregister_custom_op_symbolic
            """
        },
    ),
    Group(
        "models that are divided among several processes",
        "each process has the whole model and a share of the data",
        "ac.nn.parallel.DistributedDataParallel",
        {
            "autocalc.distributed": """
                DeviceMesh FileStore HashStore P2POp PrefixStore Store TCPStore
                all_to_all all_to_all_single batch_isend_irecv init_device_mesh
                monitored_barrier
            """
        },
    ),
)
