"""Every question that a CPD answers exactly, as functions of its weights, factors and domain.

The functions accept any object with these three attributes (:class:`juror.answers.posterior.CPD`). The methods of
:class:`juror.JointPMF` call them.
"""
