"""distribute-contractions: makes each group that is a contraction a GPU kernel; to be run at stage linalg, before tile-and-fuse.

Before:
    func.func private @fusion_0(%x: tensor<512x256xf16>, %w: tensor<1024x256xf16>, %b: tensor<1024xf32>) -> tensor<512x1024xf16> {
      linalg.fill, linalg.generic {parallel, parallel, reduction} { extf, extf, mulf, addf }, linalg.generic { addf, maximumf, truncf }
    }
After:
    gpu.module @kernels {
      memref.global "private" @fusion_0_shared : memref<49152xi8, #gpu.address_space<workgroup>>
      gpu.func @fusion_0(%x: memref<131072xf16>, %w: memref<262144xf16>, %b: memref<1024xf32>, %out: memref<524288xf16>) kernel
          attributes {known_block_size, known_grid_size, hloom.layouts = {tile = "64x64x32", warps = "2x2", …}} {
        nvgpu.device_async_copy of the first stages
        scf.for … { wait, barrier, device_async_copy, nvgpu.ldmatrix, nvgpu.mma.sync }
        bias, relu, conversion and stores on the accumulators
      }
    }

On sm_90a, from 64 rows on, the loop holds nvgpu.tma.async.load and nvvm.wgmma.mma_async instead, and the kernel takes tensor maps behind
its buffers (contraction/wgmma.py, contraction/tma.py).

Other bytes are multiplied by nvvm.mma.sync (contraction/mma_bytes.py). Floats of 8 bits that no tensor core takes are decoded, whatever the
group becomes.

Windows of single channels leave padding out (contraction/window.py); a tensor.pad in any other group is spelled out (support/padding.py).

Which kernel a contraction gets: contraction/choose_kernel.py. Tile sizes: tiled/schedules/gpu_contraction.py.

Must hold: the linalg stage. Declined: targets that are no GPUs, library groups, and groups that are no contraction with an elementwise
epilogue; they are left as they are.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.rewriting import generated_groups
from ..registry import register_pass
from .contraction.choose_kernel import try_distribute
from .support.padding import spell_out_padding


@register_pass("distribute-contractions", "makes contractions GPU kernels: tensor cores, fused multiply-adds, or few rows")
def distribute_contractions(module: ir.Operation) -> None:
    target = target_of(module)
    if target.kind != "cuda":
        return
    for group in generated_groups(module):
        if not try_distribute(group, target):
            spell_out_padding(group)
