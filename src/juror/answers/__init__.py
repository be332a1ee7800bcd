"""Every question that a CPD answers exactly, as functions of its weights, factors and domain.

They know nothing of :class:`juror.JointPMF`, whose methods are thin calls of them: any object with those three
attributes will do.
"""
