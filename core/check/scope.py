"""Names and their values while a file is walked."""

from __future__ import annotations

EXIT = object()
"""What a statement gives back after which nothing of its block can run."""


class Scope:
    """Variables of one function call. The top layer holds what the branch being walked has set."""

    __slots__ = ("declared", "layers", "parent")

    def __init__(self, parent=None):
        self.layers, self.parent, self.declared = [{}], parent, {}

    def get(self, name):
        """The value of `name` here or in an enclosing scope."""
        scope = self
        while scope is not None:
            if name in scope.declared:
                scope = scope.declared[name]
            for layer in reversed(scope.layers):
                if name in layer:
                    return layer[name]
            scope = scope.parent
        return None

    def set(self, name, value):
        """Bind `name`."""
        self.declared.get(name, self).layers[-1][name] = value
