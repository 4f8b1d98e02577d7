"""torch.compile(model, backend="hloom"). No collection looks through torch while it is imported: one is then due, and finds nothing."""

from hloom.runtime.garbage import known_objects_kept

with known_objects_kept(lasting=True):
    from . import backend as backend
